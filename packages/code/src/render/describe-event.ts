import type { AgentEvent, Decision, EffortLevel, Failure, Message } from "@keelson/protocol";
import { truncated } from "../text/display-width.ts";
import { formatCost, formatCount, formatDuration } from "./figures.ts";
import { printable, printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

/** One line for an event that stands between words and calls; `undefined` for events that show elsewhere or nowhere. */
export function describeEvent(event: AgentEvent, style: Style): string | undefined {
  switch (event.type) {
    case "run-resume":
      return style.dim(`↻ going on after ${event.cause === "recovery" ? "an interruption" : `a ${event.cause}`}`);
    case "retry":
      return style.yellow(
        `↻ ${printableLine(event.reason)}; trying again${event.delayMs > 0 ? ` in ${formatDuration(event.delayMs)}` : ""} (${event.attempt})`,
      );
    case "model-switch":
      return style.yellow(`⇄ ${printableLine(event.from)} → ${printableLine(event.to)}: ${printableLine(event.reason)}`);
    case "permission-mode-switch":
      return style.yellow(`⇄ permission mode: ${event.from} → ${event.to}`);
    case "effort-switch":
      return style.yellow(`⇄ effort: ${effortWords(event.from)} → ${effortWords(event.to)}`);
    case "compaction":
      return style.dim(compactionWords(event));
    case "steer":
      return style.cyan(`↳ ${printableLine(textOfMessage(event.message))}`);
    case "budget":
      return style.yellow(`! ${event.limit}: ${budgetWords(event)}`);
    case "rate-limit":
      return event.allowed ? undefined : style.yellow("! the vendor's rate limit is reached");
    case "definition-change":
      return style.dim("∿ going on with changed tools or instructions");
    case "tool-unknown":
      return style.yellow(`? ${printableLine(event.name)} was interrupted: whether it ran is unknown`);
    case "approval-decision":
      return decisionWords(event.decision, style);
    case "child-start":
      return style.dim(`┌ ${printableLine(event.agent)}`);
    case "child-end":
      return style.dim(`└ ${event.reason}, ${formatCost(event.cost)}`);
    case "suggestion":
      return event.suggestions.length === 0 ? undefined : style.dim(`next: ${event.suggestions.map(printableLine).join(" · ")}`);
    case "gap":
      return style.dim(`… ${formatCount(event.dropped)} updates skipped`);
    default:
      return undefined;
  }
}

/** A failure for people: its kind, then its message, which says what to do. */
export function failureLines(failure: Failure, style: Style): string[] {
  const [first = "", ...rest] = printable(failure.message).split("\n");
  return [`${style.red(`✗ ${failure.kind}:`)} ${first}`, ...rest.map((line) => `  ${line}`)];
}

export function textOfMessage(message: Message): string {
  return message.content.map((part) => (part.type === "text" || part.type === "refusal" ? part.text : "")).join("");
}

function effortWords(effort: EffortLevel | null): string {
  return effort === null ? "default" : printableLine(effort);
}

function decisionWords(decision: Decision, style: Style): string {
  const by = decision.by === undefined ? "" : ` by ${printableLine(decision.by)}`;
  const reason = "reason" in decision && decision.reason !== undefined ? `: ${truncated(printableLine(decision.reason), 200)}` : "";
  const rules = decision.type === "allow-always" && decision.rules !== undefined ? `: ${decision.rules.map(printableLine).join(", ")}` : "";
  const line = `${decision.type === "supply" ? "answered" : decision.type}${by}${reason}${rules}`;
  return decision.type === "deny" || decision.type === "abort" || decision.type === "fail"
    ? style.red(`✗ ${line}`)
    : style.green(`✓ ${line}`);
}

function compactionWords({
  messagesBefore,
  messages,
  tokensBefore,
  tokensAfter,
}: Extract<AgentEvent, { readonly type: "compaction" }>): string {
  const tokens =
    tokensBefore === undefined || tokensAfter === undefined
      ? ""
      : `, about ${formatCount(tokensBefore)} tokens to ${formatCount(tokensAfter)}`;
  return messages.length === messagesBefore
    ? `∿ old results were shortened${tokens}`
    : `∿ ${messagesBefore} messages compacted to ${messages.length}${tokens}`;
}

function budgetWords({
  used,
  max,
  limit,
}: {
  readonly used: number | string;
  readonly max: number | string;
  readonly limit: string;
}): string {
  const unit = limit === "cost" ? "$" : "";
  return limit === "duration" ? `${formatDuration(Number(used))} of ${formatDuration(Number(max))}` : `${unit}${used} of ${unit}${max}`;
}
