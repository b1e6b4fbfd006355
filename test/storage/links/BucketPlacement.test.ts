import { BucketPlacement } from "../../../src/storage/links/buckets/BucketPlacement.ts"
import * as BucketPlacementSql from "../../../src/storage/links/buckets/BucketPlacementSql.ts"
import * as BucketPlacementMemory from "../../../src/sim/stores/homes/BucketPlacementMemory.ts"
import { onEveryBackend } from "../../support/Stores.ts"
import { bucketPlacementLaws } from "./BucketPlacementLaws.ts"

onEveryBackend(
  BucketPlacement,
  { memory: BucketPlacementMemory.layer, sql: BucketPlacementSql.layer },
  (open) => bucketPlacementLaws("BucketPlacement", open)
)
