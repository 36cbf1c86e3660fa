import { AgentError } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { UsageError } from "../options/usage-error.ts";
import { createStyle } from "../text/style.ts";
import { createShownFailures } from "./shown-failures.ts";

function open() {
  const blocks: string[] = [];
  const failures = createShownFailures({ screen: { block: (lines) => void blocks.push(lines.join("\n")) }, style: createStyle(false) });
  return { failures, blocks };
}

describe("createShownFailures", () => {
  it("shows a failure once, in whichever ways it arrives", () => {
    const { failures, blocks } = open();
    expect(failures.lines({ kind: "backend", message: "the disk is full" })).toEqual(["✗ backend: the disk is full"]);
    failures.show(new AgentError({ kind: "backend", message: "the disk is full" }));
    failures.show(new Error("the disk is full"));
    expect(blocks).toEqual([]);
  });

  it("does not repeat the reason that an earlier message ended with", () => {
    const { failures, blocks } = open();
    failures.show(new Error("Max retries (4) exceeded: overloaded (HTTP 529)"));
    failures.show(new Error("overloaded (HTTP 529)"));
    expect(blocks).toEqual(["✗ error: Max retries (4) exceeded: overloaded (HTTP 529)"]);
  });

  it("shows another failure, and the same one again after the next message of the person", () => {
    const { failures, blocks } = open();
    failures.show(new Error("no such model"));
    failures.show(new Error("model"));
    failures.clear();
    failures.show(new Error("no such model"));
    expect(blocks).toEqual(["✗ error: no such model", "✗ error: model", "✗ error: no such model"]);
  });

  it("shows what to do next beside a wrong usage", () => {
    const { failures, blocks } = open();
    failures.show(new UsageError("there is no session x", "keelson sessions list shows them."));
    expect(blocks).toEqual(["✗ error: there is no session x\n  keelson sessions list shows them."]);
  });
});
