import { DeploymentStore } from "../../../src/storage/nodes/DeploymentStore.ts"
import * as DeploymentStoreMemory from "../../../src/sim/stores/DeploymentStoreMemory.ts"
import * as DeploymentStoreSql from "../../../src/storage/nodes/DeploymentStoreSql.ts"
import { deploymentStoreLaws } from "./DeploymentStoreLaws.ts"
import { onEveryBackend } from "../../support/Stores.ts"

onEveryBackend(
  DeploymentStore,
  { memory: DeploymentStoreMemory.layer, sql: DeploymentStoreSql.layer },
  (open) => deploymentStoreLaws("DeploymentStore", open)
)
