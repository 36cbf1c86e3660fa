export { placesIn } from "./instruction-places.ts";
export type { InstructionFile } from "./instruction-file.ts";
export { readInstructionFile } from "./instruction-file.ts";
export {
  type AgentsMdOptions,
  agentsMdFor,
  findAgentsMd,
  instructionStretches,
  readInstructionsAt,
  readAgentsMd,
  renderInstructions,
  repositoryRoot,
} from "./read-agents-md.ts";
