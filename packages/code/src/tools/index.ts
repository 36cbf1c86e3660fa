export { createCodingTools } from "./create-coding-tools.ts";
