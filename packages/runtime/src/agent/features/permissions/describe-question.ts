import type { AskedPart } from "@keelson/protocol";
import type { JudgedCall } from "../../definition/permissions/judged-call.ts";
import type { ShownQuestion } from "../../definition/permissions/permission-decision.ts";
import type { OpenPart } from "./cover-call.ts";

/** Programs whose writes have a plainer word. */
const VERBS: { readonly [program: string]: string } = {
  rm: "deletes",
  rmdir: "deletes",
  unlink: "deletes",
  shred: "deletes",
  mv: "moves or replaces",
  mkdir: "creates",
  chmod: "changes",
  chown: "changes",
};
const MAX_TEXT = 120;
const MAX_LISTED = 3;
const MAX_PARTS = 20;
const NOT_ALLOWED = "not allowed yet";

/** Describes a call that no rule allows: by its commands, by the files that it changes, or by its name. */
export function describeOpen(call: JudgedCall, open: readonly OpenPart[]): ShownQuestion {
  const { effects, tool, writes } = call;
  const { unknown = [], commands } = effects ?? {};
  if (unknown.length > 0)
    return { summary: `The effects of ${subjectOf(call)} cannot be known before it runs: ${withoutStop(unknown[0] ?? "")}` };
  if (commands === undefined)
    return { summary: writes.length > 0 ? `${code(tool.name)} changes ${listed(writes)}` : `${code(tool.name)} is ${NOT_ALLOWED}` };
  const { sentences, whyOf } = describeParts(call, open);
  const parts = partsOf(call, whyOf);
  return { summary: sentences.join("; "), ...(parts && { parts }) };
}

interface DescribedParts {
  readonly sentences: readonly string[];
  /** The reasons by the text of their command. */
  readonly whyOf: ReadonlyMap<string, string>;
}

function describeParts(call: JudgedCall, open: readonly OpenPart[]): DescribedParts {
  const isOnly = open.length === 1;
  const whyOf = new Map<string, string>();
  const plain: string[] = [];
  const others: string[] = [];
  for (const { text, why, told } of open) {
    if (text === undefined) {
      others.push(withoutStop(told));
      continue;
    }
    const acts = why === undefined && isOnly ? actsOf(text, call) : undefined;
    whyOf.set(text, withoutStop(why ?? acts ?? NOT_ALLOWED));
    if (acts !== undefined) others.push(`${code(text)} ${acts}`);
    else if (why === undefined) plain.push(code(text));
    else others.push(`${code(text)} is not allowed: ${withoutStop(why)}`);
  }
  const allowed = plain.length === 0 ? [] : [`${enumerated(plain)} ${plain.length === 1 ? "is" : "are"} ${NOT_ALLOWED}`];
  return { sentences: [...allowed, ...others], whyOf };
}

/** The acts of the one command that asks, where reading shows them. */
function actsOf(text: string, { writes, effects }: JudgedCall): string | undefined {
  const program = text.split(" ", 1)[0]?.split("/").at(-1) ?? "";
  if (writes.length > 0) return `${(Object.hasOwn(VERBS, program) ? VERBS[program] : undefined) ?? "writes"} ${listed(writes)}`;
  const { hosts = [] } = effects ?? {};
  return hosts.length > 0 ? `connects to ${enumerated(hosts.map(code))}` : undefined;
}

function partsOf({ effects }: JudgedCall, whyOf: ReadonlyMap<string, string>): readonly AskedPart[] | undefined {
  const { commands = [] } = effects ?? {};
  if (commands.length < 2) return undefined;
  return commands.slice(0, MAX_PARTS).map(({ text }) => {
    const why = whyOf.get(text);
    return { text: shortened(text), ...(why !== undefined && { why }) };
  });
}

/** Describes a call whose files are sensitive. @param told phrases such as `it reads ".env"` */
export function describeSensitive(call: JudgedCall, told: readonly string[]): ShownQuestion {
  const acts = told.map((phrase) =>
    phrase.replace(/^it (\w+) (".*")$/s, (_, verb: string, path: string) => `${verb} ${code(JSON.parse(path) as string)}`),
  );
  return { summary: `${capitalized(subjectOf(call))} ${acts.join(" and ")}, which holds secrets or steers later work` };
}

/** Describes a call by a reason that needs its subject. @param says continues a sentence that begins with the call */
export function describeCall(call: JudgedCall, says: string): ShownQuestion {
  return { summary: `${capitalized(subjectOf(call))} ${says}` };
}

/** The call as a person knows it: its one command, its line, or its tool. */
export function subjectOf({ effects, tool }: JudgedCall): string {
  const { commands } = effects ?? {};
  if (commands === undefined) return tool.category === "shell" ? "this line" : code(tool.name);
  return commands.length === 1 ? code(commands[0]?.text ?? "") : "this line";
}

/** A text of the call, marked as such. */
export function code(text: string): string {
  const short = shortened(text);
  return short.includes("`") ? JSON.stringify(short) : `\`${short}\``;
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

function listed(paths: readonly { readonly shown: string }[]): string {
  return enumerated(paths.map(({ shown }) => code(shown)));
}

function enumerated(items: readonly string[]): string {
  const shown = items.length > MAX_LISTED ? [...items.slice(0, MAX_LISTED), `${items.length - MAX_LISTED} more`] : items;
  return shown.length < 2 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
