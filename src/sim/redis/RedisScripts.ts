import { lauxlib, lua, lualib, type LuaState, to_jsstring, to_luastring } from "fengari"
import { type Call, RedisRefusal, type Reply } from "./RedisData.ts"

const {
  LUA_OK,
  LUA_REGISTRYINDEX,
  LUA_TBOOLEAN,
  LUA_TNUMBER,
  LUA_TSTRING,
  LUA_TTABLE,
  lua_createtable,
  lua_error,
  lua_getfield,
  lua_getglobal,
  lua_gettop,
  lua_pcall,
  lua_pop,
  lua_pushboolean,
  lua_pushcfunction,
  lua_pushinteger,
  lua_pushstring,
  lua_rawgeti,
  lua_rawlen,
  lua_rawseti,
  lua_setfield,
  lua_setglobal,
  lua_toboolean,
  lua_tonumber,
  lua_tostring,
  lua_type
} = lua

/** The interpreter, which is at work with one script at a time, and what that calls. */
const state: LuaState = lauxlib.luaL_newstate()
let call: Call | undefined
/** A command's refusal, on its way through the script. */
let refusal: RedisRefusal | undefined

/** What a script sees of a reply, as Redis converts it. */
const push = (reply: Reply) => {
  if (typeof reply === "number") lua_pushinteger(state, reply)
  else if (typeof reply === "string") lua_pushstring(state, to_luastring(reply))
  else if (reply === null) lua_pushboolean(state, false)
  else pushAll(reply.map((item) => to_luastring(item)))
}

/** Pushes a table of texts. */
const pushAll = (texts: ReadonlyArray<Uint8Array>) => {
  lua_createtable(state, texts.length, 0)
  texts.forEach((text, index) => {
    lua_pushstring(state, text)
    lua_rawseti(state, -2, index + 1)
  })
}

/** What Redis makes of a value that a script gives. */
const replyAt = (index: number): Reply => {
  switch (lua_type(state, index)) {
    case LUA_TNUMBER:
      return Math.trunc(lua_tonumber(state, index))
    case LUA_TBOOLEAN:
      return lua_toboolean(state, index) ? 1 : null
    case LUA_TTABLE:
      return Array.from({ length: lua_rawlen(state, index) }, (_, at) => {
        lua_rawgeti(state, index, at + 1)
        const item = to_jsstring(lua_tostring(state, -1))
        lua_pop(state, 1)
        return item
      })
    case LUA_TSTRING:
      return to_jsstring(lua_tostring(state, index))
    default:
      return null
  }
}

/** `redis.call`. */
const callCommand = (): number => {
  const [command, ...args] = Array.from({ length: lua_gettop(state) }, (_, at) =>
    to_jsstring(lua_tostring(state, at + 1))
  )
  try {
    push(call!(command!, args))
    return 1
  } catch (cause) {
    if (!(cause instanceof RedisRefusal)) throw cause
    refusal = cause
    lua_pushstring(state, to_luastring(cause.message))
    return lua_error(state)
  }
}

for (const [name, open] of [
  ["_G", lualib.luaopen_base],
  ["math", lualib.luaopen_math],
  ["string", lualib.luaopen_string],
  ["table", lualib.luaopen_table]
] as const) {
  lauxlib.luaL_requiref(state, to_luastring(name), open, true)
  lua_pop(state, 1)
}
lua_createtable(state, 0, 1)
lua_pushcfunction(state, callCommand)
lua_setfield(state, -2, to_luastring("call"))
lua_setglobal(state, to_luastring("redis"))
// Redis has Lua 5.1, where it is no part of `table`.
lua_getglobal(state, to_luastring("table"))
lua_getfield(state, -1, to_luastring("unpack"))
lua_setglobal(state, to_luastring("unpack"))
lua_pop(state, 1)

/** Scripts that were compiled, by their texts: there are few. */
const compiled = new Map<string, number>()

const failed = (): Error => {
  const error = refusal ?? new Error(to_jsstring(lua_tostring(state, -1)))
  lua_pop(state, 1)
  return error
}

const load = (script: string): number => {
  const known = compiled.get(script)
  if (known !== undefined) return known
  const text = to_luastring(script)
  if (lauxlib.luaL_loadbuffer(state, text, text.length, to_luastring("script")) !== LUA_OK) throw failed()
  const made = lauxlib.luaL_ref(state, LUA_REGISTRYINDEX)
  compiled.set(script, made)
  return made
}

/**
 * Runs a script of Redis in an interpreter of Lua, at one moment. Its globals are those of Lua 5.1 that scripts of Redis may use, as far as Linkmint's do; `names` says how many of the arguments are names. What a command refuses
 * ends it, with what it has done until then done, as in Redis.
 */
export const runScript = (
  script: string,
  names: number,
  args: ReadonlyArray<string | number | Uint8Array>,
  onCall: Call
): Reply => {
  const made = load(script)
  call = onCall
  refusal = undefined
  const texts = args.map((arg) => (arg instanceof Uint8Array ? arg : to_luastring(String(arg))))
  pushAll(texts.slice(0, names))
  lua_setglobal(state, to_luastring("KEYS"))
  pushAll(texts.slice(names))
  lua_setglobal(state, to_luastring("ARGV"))
  lua_rawgeti(state, LUA_REGISTRYINDEX, made)
  if (lua_pcall(state, 0, 1, 0) !== LUA_OK) throw failed()
  const reply = replyAt(-1)
  lua_pop(state, 1)
  return reply
}
