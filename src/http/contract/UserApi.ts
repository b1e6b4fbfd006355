import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { RemovalParameters, UserBody, UserChangeBody, UserParameters, UsersBody } from "./AccountSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

const path = Schema.Struct({ id: Schema.String })

/** What administrators do to accounts, in the contract. */
export const users = HttpApiGroup.make("users")
  .add(
    HttpApiEndpoint.get("listUsers", "/api/v1/users")
      .setUrlParams(UserParameters)
      .addSuccess(UsersBody)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .annotate(OpenApi.Description, "The users page by page, the newest first. For administrators.")
  )
  .add(
    HttpApiEndpoint.patch("changeUser", "/api/v1/users/:id")
      .setPath(path)
      .setPayload(UserChangeBody)
      .addSuccess(UserBody)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("reauthentication-required"))
      .addError(Problem.schema("not-found"))
      .addError(Problem.schema("last-administrator"))
      .addError(Problem.schema("payload-too-large"))
      .addError(Problem.schema("unsupported-media-type"))
      .annotate(
        OpenApi.Description,
        "Disables or enables a user, or makes one an administrator or none. Who is disabled has no sessions, keys that work or webhooks a second later; links go on redirecting. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.del("removeUser", "/api/v1/users/:id")
      .setPath(path)
      .setUrlParams(RemovalParameters)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("reauthentication-required"))
      .addError(Problem.schema("not-found"))
      .addError(Problem.schema("last-administrator"))
      .annotate(
        OpenApi.Description,
        "Deletes a user, with sessions, API keys and webhooks. Links go on redirecting, and are the administrators' alone, or are deleted, too: the first 1,000 at once, as a rule, the others soon. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.del("removeMe", "/api/v1/me")
      .setUrlParams(RemovalParameters)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("reauthentication-required"))
      .addError(Problem.schema("last-administrator"))
      .annotate(
        OpenApi.Description,
        "Deletes the account of who is signed in, and has shown the password within 15 minutes, as an administrator would."
      )
  )
