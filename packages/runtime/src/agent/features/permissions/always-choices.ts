import type { AlwaysChoice } from "@keelson/protocol";
import { exactRule } from "../../../session/exact-rule.ts";
import type { OpenPart } from "./cover-call.ts";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";

/** What a person may allow for good when asked about this call: nothing that would not let it run. */
export function alwaysChoices(
  call: JudgedCall,
  { open, exactOnly }: { readonly open: readonly OpenPart[]; readonly exactOnly: boolean },
): readonly AlwaysChoice[] {
  const { name } = call.tool;
  const exact: AlwaysChoice = { scope: "exact", rules: [exactRule(name, call.text() === "" ? call.json() : call.text())] };
  if (exactOnly) return [exact];
  const commands = open.flatMap(({ command }) => command ?? []);
  const families =
    commands.length > 0 && commands.length === open.length ? [...new Set(commands.map((command) => commandRule(name, command)))] : [];
  if (call.tool.category === "edit" && call.writes.length > 0)
    return [exact, ...folderOf(call), { scope: "edits", rules: [`${name}(**)`] }];
  const command: readonly AlwaysChoice[] = families.length > 0 ? [{ scope: "command", rules: families }] : [];
  // Every line of a shell is no answer to a question about one.
  const tool: readonly AlwaysChoice[] = call.tool.category === "shell" ? [] : [{ scope: "tool", rules: [name] }];
  return [exact, ...command, ...tool];
}

/** The folder of the files that an edit changes; none at the root of the workspace, where it would be all of them. */
function folderOf({ tool, writes }: JudgedCall): readonly AlwaysChoice[] {
  const folders = [...new Set(writes.map(({ shown }) => shown.slice(0, Math.max(0, shown.lastIndexOf("/")))))];
  const isBelow = writes.every(({ inside }) => inside) && folders.every((folder) => folder !== "");
  return isBelow ? [{ scope: "folder", rules: folders.map((folder) => exactRule(tool.name, folder).replace(/\)$/, "/**)")) }] : [];
}

/** Programs whose next word says what they do. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  (
    "git hg svn gh glab npm pnpm yarn bun deno cargo go rustup pip pip3 pipx poetry uv conda gem bundle rails rake composer php " +
    "docker podman kubectl helm terraform aws gcloud az brew apt apt-get dnf systemctl make just task mvn gradle dotnet swift flutter " +
    "node python python3 ruby perl npx pnpx bunx uvx tsx ts-node bash sh zsh"
  ).split(" "),
);
/** Subcommands whose next word says what they do. */
const DEEPER: ReadonlySet<string> = new Set(
  (
    "npm run,npm exec,pnpm run,pnpm exec,pnpm dlx,yarn run,yarn dlx,bun run,bun x,deno task,deno run,cargo run,go run,go tool,uv run,uv pip,poetry run," +
    "bundle exec,php artisan,docker compose,docker container,docker image,docker volume,docker network,git stash,git remote,git submodule,git worktree," +
    "gh pr,gh issue,gh repo,gh run,gh api,python -m,python3 -m,dotnet tool,aws s3,kubectl config"
  ).split(","),
);

/** Program and subcommand with any arguments: `npm test **` for `npm test -- --grep x`. A single star would ask again at each word that no table lists. */
function commandRule(tool: string, command: string): string {
  const parts = command.split(" ");
  const [program = "", second = "", third] = parts;
  let length = 1;
  if (SUBCOMMANDS.has(program) && second !== "" && (!second.startsWith("-") || DEEPER.has(`${program} ${second}`)))
    length = DEEPER.has(`${program} ${second}`) && third !== undefined && !third.startsWith("-") ? 3 : 2;
  return `${exactRule(tool, parts.slice(0, length).join(" ")).slice(0, -1)} **)`;
}
