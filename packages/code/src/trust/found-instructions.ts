import { join } from "node:path";
import { type AgentsMdOptions, findAgentsMd } from "../instructions/index.ts";
import type { FoundItem } from "../settings/found-item.ts";
import { instructionItem, instructionItems } from "./instruction-items.ts";
import type { ProjectTrust } from "./project-trust.ts";

/** Returns each file of instructions that there is for a folder: how it is used, or the reason why it is not. The nearest comes last. */
export async function foundInstructions(
  options: Pick<AgentsMdOptions, "cwd" | "home" | "userHome">,
  trust: ProjectTrust,
): Promise<readonly FoundItem[]> {
  const found: FoundItem[] = [];
  await findAgentsMd({
    ...options,
    onFound: (item) => void found.unshift(item),
    isTrusted: async (file) => {
      const item = instructionItem(trust.project, file);
      return item === undefined || trust.allows(item);
    },
  });
  const atStart = new Set(found.map(({ file }) => file));
  const below = (await instructionItems(trust.project, {})).filter(({ path }) => !atStart.has(join(trust.project, path)));
  for (const item of below) {
    const isUsed = await trust.allows(item);
    const reason = isUsed ? "instructions for work in that folder" : `not trusted as it is: keelson trust accept ${item.path}`;
    found.push({ file: join(trust.project, item.path), isUsed, reason });
  }
  return found;
}
