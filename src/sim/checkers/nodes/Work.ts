import type { Checker } from "../../Evidence.ts"

/**
 * Nodes that wait do nothing: a run has no more tasks than some for each second and each request. See `tasksMaxOf` of `Deployment`, which ends a run that has: nothing else is judged of it, since what was
 * to happen afterwards did not.
 */
export const Work: Checker = {
  name: "work",
  check: ({ unfinished_us, tasksMax }) =>
    unfinished_us === undefined
      ? []
      : [
          {
            checker: Work.name,
            at_us: unfinished_us,
            text: `more than ${tasksMax} tasks were run by then`,
            keys: []
          }
        ]
}
