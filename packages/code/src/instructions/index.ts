export type { InstructionFile } from "./instruction-file.ts";
export { readInstructionFile } from "./instruction-file.ts";
export {
  type AgentsMdOptions,
  agentsMdFor,
  findAgentsMd,
  instructionStretches,
  readAgentsMd,
  renderInstructions,
  repositoryRoot,
} from "./read-agents-md.ts";
