import { describe, expect, it } from "vitest";
import { z } from "zod";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { agentTool } from "./children/agent-tool.ts";
import { createAgent } from "./create-agent.ts";

const tool = (name: string) => defineTool({ name, description: "A tool.", input: { type: "object" }, execute: () => "" });
const base = { name: "clerk", model: "anthropic/claude-haiku-4-5" } as const;

describe("createAgent", () => {
  it("needs a name and a model; everything else has a default [AG-02, AG-03, AG-04]", () => {
    const agent = createAgent(base);
    expect(agent).toMatchObject({ name: "clerk", description: "", options: base, subAgents: [] });
    expect([...agent.tools]).toEqual([]);
    expect(createAgent({ ...base, description: "Keeps books." }).description).toBe("Keeps books.");
  });

  it("takes tools, leaves out the excluded ones, and names the agents among them [AG-08, AG-10, AG-30]", () => {
    const helper = createAgent({ name: "helper", model: scriptedModel([]) });
    const agent = createAgent({
      ...base,
      tools: [tool("write"), tool("read"), agentTool(helper), tool("erase")],
      excludedTools: ["erase"],
    });
    expect([...agent.tools].map(({ name }) => name)).toEqual(["helper", "read", "write"]);
    expect(agent.subAgents).toEqual(["helper"]);
  });

  it("is changed by making another: the first stays as it was, and its output schema goes along [GEN-05, AG-01]", () => {
    const output = z.object({ total: z.number() });
    const first = createAgent({ ...base, output, tools: [tool("read")], limits: { maxTurns: 3 } });
    const second = first.with({ model: "openai/gpt-5", description: "Other." }).with({ limits: { maxTurns: 9 }, tools: [] });
    expect(first).toMatchObject({ description: "", options: { model: base.model, limits: { maxTurns: 3 } } });
    expect(first.tools.size).toBe(1);
    expect(second).toMatchObject({ name: "clerk", description: "Other.", options: { model: "openai/gpt-5", limits: { maxTurns: 9 } } });
    expect(second.tools.size).toBe(0);
    expect(second.output).toBe(output);
  });
});
