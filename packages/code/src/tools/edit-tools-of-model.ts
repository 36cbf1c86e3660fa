import type { ToolSchema } from "@keelson/protocol";

/** The tools that change files. All of them can be called with any model; a model is offered those of its family. */
const EDIT_TOOLS: readonly string[] = ["apply_patch", "edit_file", "search_replace", "write_file"];

/**
 * The tools that change files, by family of models: the first row whose pattern is in the id of the model decides. A model edits best with the tool that it
 * was trained on.
 */
const EDIT_TOOLS_OF_FAMILIES: readonly { readonly family: string; readonly model: RegExp; readonly tools: readonly string[] }[] = [
  {
    family: "OpenAI",
    model: /(?:^|\/)(?:gpt-|chatgpt|codex|o\d(?:-|$))|codex/i,
    tools: ["apply_patch", "search_replace", "write_file"],
  },
  { family: "Claude", model: /claude/i, tools: ["edit_file", "search_replace", "write_file"] },
  // No patches: one replacement with two texts is the form that models of all families write.
  { family: "others", model: /^/, tools: ["edit_file", "search_replace", "write_file"] },
];

/** Returns the schemas that a model is offered: the same for the same model, so that requests can be cached. */
export function toolsOfModel(model: string, schemas: readonly ToolSchema[]): readonly ToolSchema[] {
  const offered = EDIT_TOOLS_OF_FAMILIES.find((row) => row.model.test(model))?.tools ?? EDIT_TOOLS;
  return schemas.filter(({ name }) => !EDIT_TOOLS.includes(name) || offered.includes(name));
}
