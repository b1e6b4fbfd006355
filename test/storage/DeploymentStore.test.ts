import { DeploymentStore } from "../../src/storage/DeploymentStore.ts"
import * as DeploymentStoreMemory from "../../src/storage/DeploymentStoreMemory.ts"
import * as DeploymentStoreSql from "../../src/storage/DeploymentStoreSql.ts"
import { deploymentStoreLaws } from "./DeploymentStoreLaws.ts"
import { onEveryBackend } from "./stores.ts"

onEveryBackend(
  DeploymentStore,
  { memory: DeploymentStoreMemory.layer, sql: DeploymentStoreSql.layer },
  (open) => deploymentStoreLaws("DeploymentStore", open)
)
