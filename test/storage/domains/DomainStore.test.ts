import { DomainStore } from "../../../src/storage/domains/DomainStore.ts"
import * as DomainStoreMemory from "../../../src/sim/stores/DomainStoreMemory.ts"
import * as DomainStoreSql from "../../../src/storage/domains/DomainStoreSql.ts"
import { onEveryBackend } from "../../support/Stores.ts"
import { domainStoreLaws } from "./DomainStoreLaws.ts"

onEveryBackend(DomainStore, { memory: DomainStoreMemory.layer, sql: DomainStoreSql.layer }, (open) =>
  domainStoreLaws("DomainStore", open)
)
