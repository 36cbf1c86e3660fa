export { agentsMdFor, findAgentsMd, readAgentsMd, renderInstructions } from "./read-agents-md.ts";
