import type { InferRequest, Provider, ToolSchema } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createToolWorkspace } from "../../test/tool-workspace.ts";
import { offerEditTools } from "./offer-edit-tools.ts";

/** The tools that a model is sent, of all that the agent has. */
function sentTo(model: string, tools: readonly ToolSchema[]): readonly string[] {
  const requests: InferRequest[] = [];
  const provider: Provider = {
    name: "test/any",
    wire: "test",
    // oxlint-disable-next-line require-yield -- it only notes the request
    async *stream(request) {
      requests.push(request);
    },
  };
  const { stream } = offerEditTools(provider);
  void stream({ model, messages: [], tools })[Symbol.asyncIterator]().next();
  return (requests[0]?.tools ?? []).map(({ name }) => name).filter((name) => /edit|patch|write|replace|^bash$/.test(name));
}

describe("the tools that change files", () => {
  it("are those of the family of the model; all stay tools of the agent, so that a session can change its model", () => {
    using workspace = createToolWorkspace();
    const schemas = workspace.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    for (const model of ["gpt-5.4", "gpt-5.3-codex", "o3", "o4-mini", "openai/gpt-oss-120b", "codex-mini-latest", "chatgpt-4o-latest"])
      expect(sentTo(model, schemas), model).toEqual(["apply_patch", "bash", "search_replace", "write_file"]);
    for (const model of ["claude-sonnet-5", "anthropic/claude-opus-4", "gemini-3.5-flash", "qwen3-coder", "llama-4", "yolo-3"])
      expect(sentTo(model, schemas), model).toEqual(["bash", "edit_file", "search_replace", "write_file"]);
  });

  it("are the same list for the same model, so that requests can be cached", () => {
    using workspace = createToolWorkspace();
    const schemas = workspace.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const seen: InferRequest[] = [];
    const provider = offerEditTools({
      name: "test/any",
      wire: "test",
      // oxlint-disable-next-line require-yield -- it only notes the request
      async *stream(request) {
        seen.push(request);
      },
    });
    for (let turn = 0; turn < 2; turn++)
      void provider.stream({ model: "gpt-5", messages: [], tools: schemas })[Symbol.asyncIterator]().next();
    expect(seen[0]?.tools).toBe(seen[1]?.tools);
  });
});
