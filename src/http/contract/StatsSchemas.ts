import { Schema } from "effect"
import { orphanReasons } from "../../model/Visit.ts"
import { optional } from "./LinkSchemas.ts"
import { momentParameter, queryParameter } from "../exchange/PageRequest.ts"

/** Points of a series at most. */
export const pointsMax = 10_000

/** Values of a dimension that are named; all others are one, called `other`. */
export const namedMax = 20

/** What can be asked of statistics. */
export const StatsParameters = Schema.Struct({
  from: momentParameter(
    `The first hour or day, in UTC, is the one that this moment is in. By default a day before \`to\`, or 30 days by the day. Hours are kept for 35 days and days for 1,100, unless the operator says otherwise.`
  ),
  to: momentParameter(
    "The last hour or day is the one that ends at this moment or is under way then. By default now."
  ),
  interval: queryParameter({ type: "string", enum: ["hour", "day"], default: "day" }),
  bots: queryParameter({
    type: "string",
    enum: ["include", "exclude"],
    default: "include",
    description:
      "`exclude`: `total`, `series`, `browsers`, `os` and `devices` are of people alone. `nonBots` and `bots` stay, and so do all other dimensions, whose visits by bots are not counted apart"
  }),
  format: queryParameter({
    type: "string",
    enum: ["json", "csv"],
    default: "json",
    description:
      "`csv`: a table with the columns `dimension`, `value` and `visits`. A text that a spreadsheet would take for a formula begins with `'`"
  })
})

/** What can be asked of a domain's statistics beside that. */
export const orphanParameters = {
  ...StatsParameters.fields,
  reason: queryParameter({
    type: "string",
    enum: orphanReasons,
    description: "Of visits for one reason alone; of all of them where it is missing"
  })
}

const Values = Schema.Array(Schema.Struct({ value: Schema.String, visits: Schema.Number })).annotations({
  description: `The ${namedMax} most frequent values, and \`other\``
})

const utmValues = (name: string) =>
  Values.annotations({
    description: `By \`${name}\` in the short URL; \`other\` is visits without it as well. Only where a visit has it`
  })

/** The visits of a link, or of all links of an owner, in a range of time. */
export const StatsBody = Schema.Struct({
  total: Schema.Number,
  nonBots: Schema.Number,
  bots: Schema.Number,
  series: Schema.Array(Schema.Struct({ at: Schema.String, visits: Schema.Number })).annotations({
    description: "Every hour or day of the range, also those without visits"
  }),
  referrers: Values,
  countries: Values,
  browsers: Values,
  os: Values,
  devices: Values,
  targets: optional(
    Values.annotations({
      description:
        "Of one link: by the names of its rules and variants, `default` where none led the visit, and `other` for visits from before it had any. Only where there are such visits"
    })
  ),
  utmSources: optional(utmValues("utm_source")),
  utmMediums: optional(utmValues("utm_medium")),
  utmCampaigns: optional(utmValues("utm_campaign")),
  cities: optional(
    Values.annotations({
      description:
        "The English name and the country's code, such as `Springfield, US`; `other` is visits from no known city as well. Only with a `GEOIP_FILE` of cities, and where it knows one"
    })
  ),
  uniqueVisitors: optional(
    Schema.Struct({
      sumOfDays: Schema.Number.annotations({
        description: "The sum of the days: a visitor of two days is in it twice"
      }),
      standardError: Schema.Number.annotations({
        description: "The relative standard error of a day's number, which is an estimate: 0.03 is 3 %"
      }),
      days: Schema.Array(Schema.Struct({ at: Schema.String, visitors: Schema.Number })).annotations({
        description: "Every day of the range, in UTC; by the hour, only the hours of the range count"
      })
    }).annotations({
      description:
        "How many different visitors there were on each day, without bots: told apart by a keyed hash of the client's address and `User-Agent`, whose key is another one each day. Only where there are some"
    })
  ),
  imported: optional(
    Schema.Struct({ total: Schema.Number, nonBots: Schema.Number, bots: Schema.Number }).annotations({
      description:
        "Of one link: what was counted before it was imported, where that is known. It is in no other number here"
    })
  )
}).annotations({ identifier: "Statistics" })
/** See {@link StatsBody}. */
export type StatsBody = typeof StatsBody.Type
