import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import {
  KeysBody,
  LogInBody,
  MadeKeyBody,
  MeBody,
  NewKeyBody,
  NewUserBody,
  SignUpBody,
  UserBody
} from "./AccountSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

/** Users and their sessions, in the contract. */
export const accounts = HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.post("addUser", "/api/v1/users")
      .setPayload(NewUserBody)
      .addSuccess(UserBody, { status: 201 })
      .addSuccess(SignUpBody, { status: 202 })
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("password-change-required"))
      .addError(Problem.schema("email-taken"))
      .addError(Problem.schema("payload-too-large"))
      .addError(Problem.schema("unsupported-media-type"))
      .addError(Problem.schema("rate-limited"))
      .annotate(
        OpenApi.Description,
        "Adds a user: administrators may, and everybody where sign-up is open. Only administrators are told whether the e-mail address was taken; others sign in to see."
      )
  )
  .add(
    HttpApiEndpoint.post("logIn", "/api/v1/session")
      .setPayload(LogInBody)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("payload-too-large"))
      .addError(Problem.schema("unsupported-media-type"))
      .addError(Problem.schema("rate-limited"))
      .annotate(
        OpenApi.Description,
        "Signs in: the response sets the cookie of a new session, which replaces that of the request."
      )
  )
  .add(
    HttpApiEndpoint.del("logOut", "/api/v1/session")
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("forbidden"))
      .annotate(OpenApi.Description, "Ends the session, if there is one, and takes the cookie back.")
  )
  .add(
    HttpApiEndpoint.get("me", "/api/v1/me")
      .addSuccess(MeBody)
      .addError(Problem.schema("unauthorized"))
      .annotate(OpenApi.Description, "Who the caller is, and what is left of his quotas.")
  )

/** API keys, in the contract. */
export const apiKeys = HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.post("addKey", "/api/v1/api-keys")
      .setPayload(NewKeyBody)
      .addSuccess(MadeKeyBody, { status: 201 })
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("reauthentication-required"))
      .addError(Problem.schema("too-many-keys"))
      .addError(Problem.schema("payload-too-large"))
      .addError(Problem.schema("unsupported-media-type"))
      .annotate(
        OpenApi.Description,
        "Makes an API key. Its secret is shown this once. A session must have begun within 15 minutes."
      )
  )
  .add(
    HttpApiEndpoint.get("listKeys", "/api/v1/api-keys")
      .addSuccess(KeysBody)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .annotate(OpenApi.Description, "The caller's own API keys.")
  )
  .add(
    HttpApiEndpoint.del("revokeKey", "/api/v1/api-keys/:id")
      .setPath(Schema.Struct({ id: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("not-found"))
      .annotate(
        OpenApi.Description,
        "Revokes an API key of the caller's, or as administrator anybody's: no node accepts it a second later."
      )
  )
