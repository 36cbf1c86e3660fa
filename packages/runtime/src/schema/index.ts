export { exampleOf } from "./example-of.ts";
export { type CompiledSchema, compileSchema, createJsonSchemaValidator } from "./compile-schema.ts";
export { type JsonSchema, type Schema } from "./schema.ts";
export { type SchemaIssue, describeValue, formatIssue, listKeys } from "./schema-issue.ts";
export { type SelfDescribing, type StandardIssue, type StandardResult, type StandardSchema } from "./standard-schema.ts";
