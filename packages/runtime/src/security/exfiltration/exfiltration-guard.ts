import { OrchestratorError, type CallEffects, type HookPayloads, type HookResults, type Tool } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import type { DispatchMiddleware } from "../../middleware/dispatch-middleware.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { findExfiltration, leavesMachine, type Exfiltration } from "./find-exfiltration.ts";

export interface ExfiltrationGuardOptions {
  /** Knows the secrets. */
  readonly redactor: Redactor;
  /** The tools of the agent: what they say of their calls tells whether something leaves the machine. */
  readonly tools: readonly Tool[];
  /** What is to be done about something that was found. Default: secrets are denied, encoded ones too; what only looks like data is asked about. */
  readonly judge?:
    | ((found: Exfiltration, call: { readonly tool: string; readonly hosts: readonly string[] }) => "allow" | "ask" | "deny")
    | undefined;
}

/** What the guard says of one call. */
export type ExfiltrationVerdict =
  | { readonly verdict: "allow" }
  | { readonly verdict: "ask" | "deny"; readonly reason: string; readonly found: readonly Exfiltration[] };

/** Judges calls of tools by what they would send away. */
export interface ExfiltrationGuard {
  judge(toolName: string, input: unknown, where?: { readonly cwd?: string }): Promise<ExfiltrationVerdict>;
  /** For `onPreToolUse("*", guard.hook, { guard: true })`. */
  readonly hook: (
    payload: HookPayloads["pre-tool-use"],
    context: { readonly cwd?: string },
  ) => Promise<HookResults["pre-tool-use"] | undefined>;
}

/**
 * ```ts
 * const guard = createExfiltrationGuard({ redactor, tools });
 * const hooks = createHookRegistry().onPreToolUse("*", guard.hook, { name: "exfiltration", guard: true });
 * ```
 *
 * Calls that connect to hosts, or start programs that do, by what their tools say (`effectsOf`), are looked through. Of a tool that says
 * nothing it isn't known whether anything leaves the machine: what would be denied is asked about. Reads of a tool that says where it
 * reads, and writes of files, are let through.
 */
export function createExfiltrationGuard(options: ExfiltrationGuardOptions): ExfiltrationGuard {
  checkOptionNames("createExfiltrationGuard", options, { redactor: true, tools: true, judge: true });
  const { redactor, tools, judge = byType } = options;

  const verdictOn = async (toolName: string, input: unknown, where: { readonly cwd?: string } = {}): Promise<ExfiltrationVerdict> => {
    checkOptionNames("guard.judge", where, { cwd: true });
    const tool = tools.find(({ name, aliases }) => name === toolName || aliases.includes(toolName));
    const effects = await effectsOf(tool, input, where);
    const leaves = leavesMachine(effects);
    if (leaves === false) return ALLOWED;
    const hosts = effects?.hosts ?? [];
    const judged = findExfiltration(textOf(input), redactor, hosts).map((found) => ({
      found,
      verdict: judge(found, { tool: toolName, hosts }),
    }));
    const stopped = judged.filter(({ verdict }) => verdict !== "allow");
    if (stopped.length === 0) return ALLOWED;
    const isDenied = leaves === true && stopped.some(({ verdict }) => verdict === "deny");
    const reason = `This would leave the machine${leaves === undefined ? ", for all that is known" : ""}${hosts.length > 0 ? ` for ${hosts.join(", ")}` : ""}. ${stopped.map(({ found }) => found.reason).join(" ")}`;
    return { verdict: isDenied ? "deny" : "ask", reason, found: stopped.map(({ found }) => found) };
  };

  return {
    judge: verdictOn,
    async hook({ toolName, arguments: input }, { cwd }) {
      const judged = await verdictOn(toolName, input, cwd === undefined ? {} : { cwd });
      if (judged.verdict === "allow") return undefined;
      return judged.verdict === "ask"
        ? { type: "ask", reason: judged.reason }
        : { type: "abort", reason: `${judged.reason} Leave it out, or refer to it by name where the tool can.` };
    },
  };
}

/** A guard that refuses dispatches whose input would carry secrets or encoded data to an address: they reject with `dispatch-failed`. */
export function guardDispatches(redactor: Redactor): DispatchMiddleware {
  return {
    name: "exfiltration-guard",
    async dispatch(operator, input, next) {
      const text = textOf([input.message, input.metadata ?? null]);
      if (/\b(?:https?|wss?|ftp):\/\/|\b(?:curl|wget)\b/i.test(text)) {
        const [found] = findExfiltration(text, redactor);
        if (found !== undefined)
          throw new OrchestratorError({ kind: "dispatch-failed", message: `The dispatch to "${operator}" was refused: ${found.reason}` });
      }
      return next();
    },
  };
}

const ALLOWED: ExfiltrationVerdict = { verdict: "allow" };

function byType({ type }: Exfiltration): "ask" | "deny" {
  return type === "secret" || type === "encoded-secret" ? "deny" : "ask";
}

/** A tool that is not known, or whose arguments do not fit, has said nothing. */
async function effectsOf(tool: Tool | undefined, input: unknown, where: { readonly cwd?: string }): Promise<CallEffects | undefined> {
  if (tool?.effectsOf === undefined) return undefined;
  const parsed = await tool.parse(input);
  return parsed.issues === undefined ? tool.effectsOf(parsed.value, where) : undefined;
}

/** All texts of a value, a line each, so that none is hidden by the escapes of another form. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, member]) => (Array.isArray(value) ? textOf(member) : `${name}: ${textOf(member)}`))
    .join("\n");
}
