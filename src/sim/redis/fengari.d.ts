declare module "fengari" {
  /** A state of the interpreter, with its stack. */
  export interface LuaState {
    readonly _lua: never
  }
  type LuaText = Uint8Array
  type LuaFunction = (state: LuaState) => number

  export const to_luastring: (text: string) => LuaText
  export const to_jsstring: (text: LuaText) => string
  export const lua: {
    readonly LUA_OK: number
    readonly LUA_REGISTRYINDEX: number
    readonly LUA_TNUMBER: number
    readonly LUA_TSTRING: number
    readonly LUA_TTABLE: number
    readonly LUA_TBOOLEAN: number
    readonly lua_gettop: (state: LuaState) => number
    readonly lua_type: (state: LuaState, index: number) => number
    readonly lua_pop: (state: LuaState, count: number) => void
    readonly lua_pcall: (state: LuaState, args: number, results: number, handler: number) => number
    readonly lua_error: (state: LuaState) => never
    readonly lua_createtable: (state: LuaState, items: number, fields: number) => void
    readonly lua_rawgeti: (state: LuaState, index: number, at: number) => number
    readonly lua_rawseti: (state: LuaState, index: number, at: number) => void
    readonly lua_rawlen: (state: LuaState, index: number) => number
    readonly lua_getfield: (state: LuaState, index: number, name: LuaText) => number
    readonly lua_setfield: (state: LuaState, index: number, name: LuaText) => void
    readonly lua_setglobal: (state: LuaState, name: LuaText) => void
    readonly lua_getglobal: (state: LuaState, name: LuaText) => number
    readonly lua_pushstring: (state: LuaState, text: LuaText) => void
    readonly lua_pushinteger: (state: LuaState, value: number) => void
    readonly lua_pushboolean: (state: LuaState, value: boolean) => void
    readonly lua_pushcfunction: (state: LuaState, run: LuaFunction) => void
    readonly lua_tonumber: (state: LuaState, index: number) => number
    readonly lua_toboolean: (state: LuaState, index: number) => boolean
    readonly lua_tostring: (state: LuaState, index: number) => LuaText
  }
  export const lauxlib: {
    readonly luaL_newstate: () => LuaState
    readonly luaL_loadbuffer: (state: LuaState, text: LuaText, size: number, name: LuaText) => number
    readonly luaL_requiref: (state: LuaState, name: LuaText, open: LuaFunction, isGlobal: boolean) => void
    readonly luaL_ref: (state: LuaState, index: number) => number
  }
  export const lualib: {
    readonly luaopen_base: LuaFunction
    readonly luaopen_math: LuaFunction
    readonly luaopen_string: LuaFunction
    readonly luaopen_table: LuaFunction
  }
}
