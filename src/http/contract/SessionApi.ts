import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { NewPasswordBody, SessionsBody } from "./AccountSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

/** The sessions of a user, and the password that they begin with, in the contract. */
export const sessions = HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("listSessions", "/api/v1/sessions")
      .addSuccess(SessionsBody)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("password-change-required"))
      .annotate(OpenApi.Description, "Where the caller is signed in.")
  )
  .add(
    HttpApiEndpoint.del("endOtherSessions", "/api/v1/sessions")
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("password-change-required"))
      .annotate(OpenApi.Description, "Ends all the caller's sessions but the one of this request.")
  )
  .add(
    HttpApiEndpoint.del("endSession", "/api/v1/sessions/:id")
      .setPath(Schema.Struct({ id: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("password-change-required"))
      .addError(Problem.schema("not-found"))
      .annotate(OpenApi.Description, "Ends one of the caller's sessions.")
  )
  .add(
    HttpApiEndpoint.put("changePassword", "/api/v1/me/password")
      .setPayload(NewPasswordBody)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(Problem.schema("unauthorized"))
      .addError(Problem.schema("forbidden"))
      .addError(Problem.schema("payload-too-large"))
      .addError(Problem.schema("unsupported-media-type"))
      .addError(Problem.schema("rate-limited"))
      .annotate(
        OpenApi.Description,
        "Changes the password of who is signed in: all sessions end, and the response begins another one."
      )
  )
