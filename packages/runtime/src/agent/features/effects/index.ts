export { createFilterChain, type FilterChain } from "../../definition/effects/filter-chain.ts";
export { defineEffectTool, type EffectToolDefinition, type EffectToolFields } from "../../definition/effects/define-effect-tool.ts";
export {
  createDirectivePayloads,
  type CustomDirective,
  type DirectivePayloads,
  type PayloadCodec,
  type PayloadTypes,
} from "./directive-payloads.ts";
export { stateOnly, withDirective, withDirectives } from "./directive-result.ts";
