import type { OpenToolSource, Tool, ToolSource } from "@keelson/protocol";
import type { EngineScenario } from "../engine-scenario.ts";
import { call, oneAgent } from "./one-agent.ts";

const about = "tool sources";

/** A source that is there once it was opened, or once its promise resolves, and whose tools depend on nothing that a process remembers. */
function source(tools: () => readonly Tool[], ready?: () => Promise<void>): ToolSource {
  return {
    name: "shelf",
    open(): OpenToolSource {
      let isThere = ready === undefined;
      const coming = ready?.().then(() => {
        isThere = true;
      });
      return {
        ...(coming && { ready: coming, startupWaitMs: 60_000 }),
        tools: () => (isThere ? tools() : []),
        async [Symbol.asyncDispose]() {},
      };
    },
  };
}

export const TOOL_SOURCES: readonly EngineScenario[] = [
  oneAgent({
    name: "writes-with-a-tool-of-a-source",
    about,
    options(kit) {
      const send = kit.tool("send", "write");
      return {
        model: kit.model([call("look"), call("send", { to: "ann" }), "It is sent."]),
        tools: [kit.tool("look", "read")],
        toolSources: [source(() => [send])],
      };
    },
    ends: { reason: "complete", text: "It is sent." },
    writes: { send: 1 },
  }),
  oneAgent({
    name: "waits-for-a-source-in-each-process",
    about,
    options(kit) {
      const [send, post] = [kit.tool("send", "write"), kit.tool("post", "write")];
      const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
      return {
        model: kit.model([call("send"), call("post"), "Both are gone."]),
        toolSources: [source(() => [send, post], soon)],
      };
    },
    ends: { reason: "complete", text: "Both are gone." },
    writes: { send: 1, post: 1 },
  }),
  oneAgent({
    name: "finds-one-of-many-tools-of-a-source",
    about,
    options(kit) {
      const many = Array.from({ length: 50 }, (_, index) => kit.tool(`count_${index}`, "read"));
      const pay = kit.tool("pay_invoice", "write");
      return {
        model: kit.model([call("search_tools", { query: "pay an invoice" }), call("pay_invoice", { cents: 3 }), "It is paid."]),
        toolSources: [source(() => [...many, pay])],
      };
    },
    ends: { reason: "complete", text: "It is paid." },
    writes: { pay_invoice: 1 },
  }),
];
