import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { FoundItem } from "./found-item.ts";

const RULES = "it is not read: write @ and its path into CLAUDE.md, or keep its text in AGENTS.md";
const SERVERS = "its servers are not used: copy those that you want to .mcp.json, which is read with the same fields";
const AGENTS = "agents of other programs are not supported";

/** Files of other agents below the root of a repository that are not read, with what to do instead. */
const OF_PROJECT: { readonly [path: string]: string } = {
  ".vscode/mcp.json": SERVERS,
  ".cursor/mcp.json": SERVERS,
  ".gemini/settings.json": SERVERS,
  "opencode.json": SERVERS,
  ".codex/config.toml": SERVERS,
  "GEMINI.md": RULES,
  ".cursorrules": RULES,
  ".cursor/rules": RULES,
  ".windsurfrules": RULES,
  ".clinerules": RULES,
  ".github/copilot-instructions.md": RULES,
  ".claude/rules": RULES,
  ".claude/agents": AGENTS,
  ".claude/output-styles": "output styles are not supported: say in AGENTS.md how the agent responds",
};
/** The same below the home folder of the person. */
const OF_PERSON: { readonly [path: string]: string } = {
  ".claude.json": "servers in it are not used: keelson mcp add keeps a server of your own",
  ".claude/agents": AGENTS,
  ".claude/rules": RULES,
  ".codex/config.toml": "it is not read: settings.json of the home folder of Keelson has the same settings",
  ".codex/AGENTS.md": "it is not read: copy it to AGENTS.md of the home folder of Keelson",
  ".gemini/GEMINI.md": "it is not read: copy it to AGENTS.md of the home folder of Keelson",
};

/** The files of other agents that are there and are not read. */
export async function filesOfOthers({
  project,
  userHome,
}: {
  readonly project: string;
  readonly userHome: string;
}): Promise<readonly FoundItem[]> {
  const places = [
    ...Object.entries(OF_PERSON).map(([path, reason]) => ({ file: join(userHome, path), reason })),
    ...Object.entries(OF_PROJECT).map(([path, reason]) => ({ file: join(project, path), reason })),
  ];
  const found = await Promise.all(places.map(async (place) => ((await isThere(place.file)) ? [{ ...place, isUsed: false }] : [])));
  return found.flat();
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
