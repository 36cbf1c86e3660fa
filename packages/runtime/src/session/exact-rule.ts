/** The pattern of a permission rule that is about this text as the arguments of a tool, and about no other. */
export function exactRule(tool: string, text: string): string {
  return `${tool}(${text.replaceAll("\\", "\\\\").replaceAll("*", "\\*")})`;
}
