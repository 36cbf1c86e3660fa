import type { OpenToolSource, Tool, ToolSource } from "@keelson/protocol";
import { redactTools } from "./redact-tools.ts";
import type { Redactor } from "./redactor.ts";

/** The same source, with secrets taken out of the results of its tools and out of the problems that it reports. */
export function redactToolSource(source: ToolSource, redactor: Redactor): ToolSource {
  const { name, startupWaitMs, pins } = source;
  return {
    name,
    ...(startupWaitMs !== undefined && { startupWaitMs }),
    ...(pins && { pins }),
    open: async (place) => redactOpened(await source.open(place), redactor),
  };
}

function redactOpened(opened: OpenToolSource, redactor: Redactor): OpenToolSource {
  const { ready, startupWaitMs } = opened;
  let offered: readonly Tool[] | undefined;
  let redacted: readonly Tool[] = [];
  return {
    ...(ready && { ready }),
    ...(startupWaitMs !== undefined && { startupWaitMs }),
    // A list that has not changed is the same list.
    tools() {
      const now = opened.tools();
      if (now !== offered) redacted = redactTools((offered = now), redactor);
      return redacted;
    },
    ...(opened.mayCome && { mayCome: (tool: string) => opened.mayCome?.(tool) === true }),
    ...(opened.onChange && { onChange: (listen: () => void) => opened.onChange?.(listen) ?? (() => {}) }),
    ...(opened.problems && { problems: () => (opened.problems?.() ?? []).map((problem) => redactor.redact(problem)) }),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
