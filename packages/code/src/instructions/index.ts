export { type InstructionFile } from "./instruction-file.ts";
export { type AgentsMdOptions, agentsMdFor, findAgentsMd, readAgentsMd, renderInstructions } from "./read-agents-md.ts";
