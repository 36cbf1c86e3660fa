import { UsageError } from "../options/usage-error.ts";
import { failureLines } from "../render/describe-event.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Style } from "../text/style.ts";

/** A failure as a person reads it. */
export interface ShownFailure {
  readonly kind: string;
  readonly message: string;
}

/**
 * The failures that a person has seen since their last message. One failure reaches a conversation in several ways: as an event of the run, as the
 * outcome of the run, and as the rejection of what was done to it. It is shown once.
 */
export interface ShownFailures {
  /** Returns the lines of a failure; empty if it was shown before. */
  lines(failure: ShownFailure): string[];
  /** Shows whatever was thrown, if it was not shown before. */
  show(error: unknown): void;
  /** Forgets what was shown: the person has sent another message. */
  clear(): void;
}

export function createShownFailures({ screen, style }: { readonly screen: Pick<Screen, "block">; readonly style: Style }): ShownFailures {
  const shown: string[] = [];
  /** True also for a message that an earlier one only led up to: `Max retries (4) exceeded: overloaded`. */
  const isKnown = (message: string): boolean => shown.some((one) => one === message || one.endsWith(`: ${message}`));

  function lines({ kind, message }: ShownFailure): string[] {
    const said = message.trim();
    if (isKnown(said)) return [];
    shown.push(said);
    return failureLines({ kind, message: said }, style);
  }

  return {
    lines,
    show(error) {
      const told = lines(failureOf(error));
      if (told.length > 0) screen.block(told);
    },
    clear() {
      shown.length = 0;
    },
  };
}

function failureOf(error: unknown): ShownFailure {
  if (error instanceof UsageError) return { kind: "error", message: `${error.message}\n${error.hint}` };
  const failure = (error as { failure?: { kind?: unknown; message?: unknown } } | undefined)?.failure;
  if (typeof failure?.kind === "string" && typeof failure.message === "string") return { kind: failure.kind, message: failure.message };
  return { kind: "error", message: error instanceof Error ? error.message : String(error) };
}
