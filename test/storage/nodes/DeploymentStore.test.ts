import { DeploymentStore, layer } from "../../../src/storage/nodes/DeploymentStore.ts"
import * as DeploymentStoreMemory from "../../../src/sim/stores/DeploymentStoreMemory.ts"
import { deploymentStoreLaws } from "./DeploymentStoreLaws.ts"
import { onEveryBackend } from "../../support/Stores.ts"

onEveryBackend(DeploymentStore, { memory: DeploymentStoreMemory.layer, sql: layer }, (open) =>
  deploymentStoreLaws("DeploymentStore", open)
)
