import type { CommandHost } from "../core/command-host.ts";
import type { Home } from "../core/home.ts";
import { readProjectRules } from "../core/project-rules.ts";
import { instructionStretches } from "../instructions/index.ts";
import { contextLines } from "../render/context-lines.ts";
import { formatCost, formatTokens } from "../render/figures.ts";
import { projectRuleLines } from "../render/project-rule-lines.ts";
import { trustLines } from "../render/trust-lines.ts";
import type { Topic } from "../slash-commands/session-commands.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";
import { trustItems } from "../trust/project-trust.ts";
import type { OpenSession } from "./open-session.ts";

interface View {
  readonly style: Style;
  readonly columns: number;
}

const NOT_BEGUN = "nothing yet: this session begins with your first message";

/** The lines about one topic of a session. */
export async function sessionFactLines(
  topic: Topic,
  { id, plan, runner }: Pick<OpenSession, "id" | "plan" | "runner">,
  { home, command, ...view }: View & { readonly home: Home } & Pick<CommandHost, "command">,
): Promise<readonly string[]> {
  if (topic === "permissions") return projectRuleLines(await readProjectRules(home, plan.launch.cwd), command);
  if (id === undefined) return [NOT_BEGUN];
  if (topic === "context") return contextLines(await runner.xray(id, { request: "last", systemFiles: instructionStretches }), view);
  const { metadata } = await runner.sessions.get(id);
  return [`${metadata.turnCount} turns · ${formatTokens(metadata.usage)} · ${formatCost(metadata.cost)}`];
}

/** Has the conversation shortened before the next turn. */
export async function compactSession({ id, runner }: Pick<OpenSession, "id" | "runner">, keep: string): Promise<readonly string[]> {
  if (id === undefined) return [NOT_BEGUN];
  await runner.compact(id, keep === "" ? {} : { keep });
  return [`The conversation is shortened before the next turn${keep === "" ? "" : `; its summary keeps: ${printableLine(keep)}`}.`];
}

/** Trusts what the project brings and was left out, as it was then. */
export async function trustLeftOut(
  { plan, place }: Pick<OpenSession, "plan" | "place">,
  { home, now, style }: Pick<View, "style"> & { readonly home: Home } & Pick<CommandHost, "now">,
): Promise<readonly string[]> {
  const items = [...place.leftOut.values()];
  if (items.length === 0) return ["Nothing that this project brings is left out."];
  await trustItems(home, plan.trust.project, items, now());
  place.leftOut.clear();
  return [
    ...trustLines(items, { style }),
    "Trusted as shown: instructions from your next message on, hooks and servers from the next start.",
  ];
}
