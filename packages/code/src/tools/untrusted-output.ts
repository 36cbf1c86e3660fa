import type { TextOrigin } from "@keelson/protocol";
import { untrustedByEffects } from "keelson/tools";

/** Programs whose output is what a server says, also where no argument names one. */
const PROGRAMS: ReadonlySet<string> = new Set(
  (
    "curl wget http https xh aria2c lynx w3m links elinks ftp sftp telnet nc ncat netcat socat ssh dig nslookup host whois rsync mail mutt " +
    "gh glab hub jira aws gcloud az kubectl oc heroku flyctl vercel netlify wrangler doctl"
  ).split(" "),
);
/** The same of programs with this second word. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  (
    "git clone,git fetch,git pull,git ls-remote,npm view,npm info,npm show,npm search,npm audit,npm outdated,yarn info,pnpm view,pnpm info," +
    "pip search,pip index,pip download,cargo search,cargo info,gem search,brew search,brew info,apt show,docker search,docker logs"
  ).split(","),
);

/** Where what a command prints comes from, if not from the workspace and the programs in it. */
export function untrustedOutput(input: unknown, origin: TextOrigin): string | undefined {
  const named = untrustedByEffects(input, origin);
  if (named !== undefined) return named;
  for (const { text } of origin.effects?.commands ?? []) {
    const [program = "", subcommand = ""] = text.split(" ");
    const name = program.slice(program.lastIndexOf("/") + 1);
    if (PROGRAMS.has(name)) return name;
    if (SUBCOMMANDS.has(`${name} ${subcommand}`)) return `${name} ${subcommand}`;
  }
  return undefined;
}
