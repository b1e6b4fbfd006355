import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import {
  KeysBody,
  LogInBody,
  MadeKeyBody,
  MeBody,
  NewKeyBody,
  NewPasswordBody,
  NewUserBody,
  RemovalParameters,
  SessionsBody,
  SignUpBody,
  UserBody,
  UserChangeBody,
  UserParameters,
  UsersBody
} from "./AccountSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

const IdPath = Schema.Struct({ id: Schema.String })

/** Users and their sessions, in the contract. */
export const accounts = HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.post("addUser", "/api/v1/users")
      .setPayload(NewUserBody)
      .addSuccess(UserBody, { status: 201 })
      .addSuccess(SignUpBody, { status: 202 })
      .addError(Problem.schema("unauthorized", "forbidden", "password-change-required", "email-taken"))
      .addError(Problem.schema("payload-too-large", "unsupported-media-type", "rate-limited"))
      .annotate(OpenApi.Summary, "Create an account")
      .annotate(
        OpenApi.Description,
        "Adds a user: administrators may, and everybody where sign-up is open. Only administrators are told whether the e-mail address was taken; others sign in to see."
      )
  )
  .add(
    HttpApiEndpoint.post("logIn", "/api/v1/session")
      .setPayload(LogInBody)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "payload-too-large", "unsupported-media-type"))
      .addError(Problem.schema("rate-limited"))
      .annotate(OpenApi.Summary, "Sign in")
      .annotate(
        OpenApi.Description,
        "Signs in: the response sets the cookie of a new session, which replaces that of the request."
      )
  )
  .add(
    HttpApiEndpoint.del("logOut", "/api/v1/session")
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("forbidden"))
      .annotate(OpenApi.Summary, "Sign out")
      .annotate(OpenApi.Description, "Ends the session, if there is one, and takes the cookie back.")
  )
  .add(
    HttpApiEndpoint.get("me", "/api/v1/me")
      .addSuccess(MeBody)
      .addError(Problem.schema("unauthorized"))
      .annotate(OpenApi.Summary, "Show the own account")
      .annotate(OpenApi.Description, "Who the caller is, and what is left of their quotas.")
  )

/** The sessions of a user, and the password that they begin with, in the contract. */
export const sessions = HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("listSessions", "/api/v1/sessions")
      .addSuccess(SessionsBody)
      .addError(Problem.schema("unauthorized", "forbidden", "password-change-required"))
      .annotate(OpenApi.Summary, "List own sessions")
      .annotate(OpenApi.Description, "Where the caller is signed in.")
  )
  .add(
    HttpApiEndpoint.del("endOtherSessions", "/api/v1/sessions")
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "password-change-required"))
      .annotate(OpenApi.Summary, "End all other sessions")
      .annotate(OpenApi.Description, "Ends all the caller's sessions but the one of this request.")
  )
  .add(
    HttpApiEndpoint.del("endSession", "/api/v1/sessions/:id")
      .setPath(IdPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "password-change-required", "not-found"))
      .annotate(OpenApi.Summary, "End a session")
      .annotate(OpenApi.Description, "Ends one of the caller's sessions.")
  )
  .add(
    HttpApiEndpoint.put("changePassword", "/api/v1/me/password")
      .setPayload(NewPasswordBody)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "payload-too-large", "unsupported-media-type"))
      .addError(Problem.schema("rate-limited"))
      .annotate(OpenApi.Summary, "Change the own password")
      .annotate(
        OpenApi.Description,
        "Changes the password of who is signed in: all sessions end, and the response begins another one."
      )
  )

/** What administrators do to accounts, in the contract. */
export const users = HttpApiGroup.make("users")
  .add(
    HttpApiEndpoint.get("listUsers", "/api/v1/users")
      .setUrlParams(UserParameters)
      .addSuccess(UsersBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Summary, "List users")
      .annotate(OpenApi.Description, "The users page by page, the newest first. For administrators.")
  )
  .add(
    HttpApiEndpoint.patch("changeUser", "/api/v1/users/:id")
      .setPath(IdPath)
      .setPayload(UserChangeBody)
      .addSuccess(UserBody)
      .addError(Problem.schema("unauthorized", "forbidden", "reauthentication-required", "not-found"))
      .addError(Problem.schema("last-administrator", "payload-too-large", "unsupported-media-type"))
      .annotate(OpenApi.Summary, "Change a user")
      .annotate(
        OpenApi.Description,
        "Disables or enables a user, or makes one an administrator or none. Who is disabled has no sessions, keys that work or webhooks a second later; links go on redirecting. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.del("removeUser", "/api/v1/users/:id")
      .setPath(IdPath)
      .setUrlParams(RemovalParameters)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "reauthentication-required", "not-found"))
      .addError(Problem.schema("last-administrator"))
      .annotate(OpenApi.Summary, "Delete a user")
      .annotate(
        OpenApi.Description,
        "Deletes a user, with sessions, API keys and webhooks. Links go on redirecting, and are the administrators' alone, or are deleted, too: the first 1,000 at once, as a rule, the others soon. For administrators."
      )
  )
  .add(
    HttpApiEndpoint.del("removeMe", "/api/v1/me")
      .setUrlParams(RemovalParameters)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "reauthentication-required"))
      .addError(Problem.schema("last-administrator"))
      .annotate(OpenApi.Summary, "Delete the own account")
      .annotate(
        OpenApi.Description,
        "Deletes the account of who is signed in, and has shown the password within 15 minutes, as an administrator would."
      )
  )

/** API keys, in the contract. */
export const apiKeys = HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.post("addKey", "/api/v1/api-keys")
      .setPayload(NewKeyBody)
      .addSuccess(MadeKeyBody, { status: 201 })
      .addError(Problem.schema("unauthorized", "forbidden", "reauthentication-required", "too-many-keys"))
      .addError(Problem.schema("payload-too-large", "unsupported-media-type"))
      .annotate(OpenApi.Summary, "Create an API key")
      .annotate(
        OpenApi.Description,
        "Makes an API key. Its secret is shown this once. A session must have begun within 15 minutes."
      )
  )
  .add(
    HttpApiEndpoint.get("listKeys", "/api/v1/api-keys")
      .addSuccess(KeysBody)
      .addError(Problem.schema("unauthorized", "forbidden"))
      .annotate(OpenApi.Summary, "List own API keys")
      .annotate(OpenApi.Description, "The caller's own API keys.")
  )
  .add(
    HttpApiEndpoint.del("revokeKey", "/api/v1/api-keys/:id")
      .setPath(IdPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized", "forbidden", "not-found"))
      .annotate(OpenApi.Summary, "Revoke an API key")
      .annotate(
        OpenApi.Description,
        "Revokes an API key of the caller's, or as administrator anybody's: no node accepts it a second later."
      )
  )
