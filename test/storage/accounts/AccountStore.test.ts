import { AccountStore } from "../../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreMemory from "../../../src/sim/stores/AccountStoreMemory.ts"
import * as AccountStoreSql from "../../../src/storage/accounts/AccountStoreSql.ts"
import { accountStoreLaws } from "./AccountStoreLaws.ts"
import { userLifeLaws } from "./UserLifeLaws.ts"
import { onEveryBackend } from "../../support/Stores.ts"

onEveryBackend(AccountStore, { memory: AccountStoreMemory.layer, sql: AccountStoreSql.layer }, (open) => {
  accountStoreLaws("AccountStore", open)
  userLifeLaws("AccountStore", open)
})
