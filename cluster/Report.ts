// What a person is told about a cluster that is up.

import type { Member, Running } from "./Cluster.ts"

const line = ({ name, pid, url }: Member, more = "") =>
  `  ${name.padEnd(16)} pid ${String(pid).padEnd(8)} ${url}${more}`

/** Where everything listens, and what to do with it. */
export const report = (
  cluster: Running,
  options: { readonly keepsData: boolean; readonly restarts: boolean }
): string => {
  const {
    adminEmail,
    adminKey,
    adminPassword,
    failover,
    folder,
    loadBalancer,
    nodes,
    pid,
    postgres,
    redis,
    sentinels,
    url
  } = cluster
  const first = nodes[0]!
  return [
    `The cluster is up at ${url}`,
    "",
    line(loadBalancer, `  (echo show stat | socat - UNIX:${loadBalancer.socket})`),
    ...nodes.map((node) => line(node, node.role === "http" ? "  (owns no actors)" : "")),
    line(postgres, failover.length === 0 ? "" : "  (leads to the primary)"),
    ...failover.map((server) => line(server)),
    ...[...redis, ...sentinels].map((server) => line(server)),
    "",
    `Folder:    ${folder} (${options.keepsData ? "kept: the next start with it goes on" : "goes at the end"}); a log each: ${folder}/*/log`,
    `Sign in:   ${adminEmail}, password ${adminPassword} (as long as you do not change it)`,
    `Admin key: ${adminKey}`,
    "Set another password, of any user:",
    `  DATABASE_URL='${postgres.url}' npm run admin -- set-password --email ${adminEmail}`,
    "",
    "Make a link:",
    `  curl -d '{"url":"https://example.com/"}' -H 'content-type: application/json' -H 'x-api-key: ${adminKey}' ${loadBalancer.url}/api/v1/links`,
    "Kill a node, and see that links go on:",
    `  kill -9 ${first.pid}    # ${first.name}${options.restarts ? "; it comes back (--restart)" : "; with --restart it would come back"}`,
    `Stop it all: Ctrl-C here, or kill ${pid}`,
    ""
  ].join("\n")
}
