import { AccountStore } from "../../src/storage/AccountStore.ts"
import * as AccountStoreMemory from "../../src/storage/AccountStoreMemory.ts"
import * as AccountStoreSql from "../../src/storage/AccountStoreSql.ts"
import { accountStoreLaws } from "./AccountStoreLaws.ts"
import { userLifeLaws } from "./UserLifeLaws.ts"
import { onEveryBackend } from "./stores.ts"

onEveryBackend(AccountStore, { memory: AccountStoreMemory.layer, sql: AccountStoreSql.layer }, (open) => {
  accountStoreLaws("AccountStore", open)
  userLifeLaws("AccountStore", open)
})
