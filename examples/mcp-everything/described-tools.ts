import { defineTool, type Tool } from "keelson/tools";

/** Clients mirror its argument into a header, so that what stands before a server can go by it. */
export const headerTool: Tool = defineTool({
  name: "test_header_tool",
  description: "Says the region that it was called for.",
  effect: "read",
  input: {
    type: "object",
    properties: { region: { "type": "string", "description": "Where", "x-mcp-header": "Region" } },
    required: ["region"],
  },
  execute: ({ region }) => `Called for ${String(region)}.`,
});

/** With a schema that says much of what schemas can say. */
export const schemaTool: Tool = defineTool({
  name: "json_schema_2020_12_tool",
  description: "Takes a person's address.",
  effect: "read",
  input: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
  execute: ({ name }) => `Noted for ${String(name)}.`,
});
