import { printableLine } from "../text/printable.ts";

/** What always runs unasked in a project, or in each of them, and how to take it back. */
export function projectRuleLines(
  rules: readonly { readonly project: string; readonly pattern: string }[],
  command: string,
  everywhere = false,
): string[] {
  if (rules.length === 0)
    return [
      everywhere
        ? "Nothing is always allowed in any project."
        : "Nothing is always allowed in this project. Answer a question with a (always), then p (for this project).",
    ];
  const projects = [...new Set(rules.map(({ project }) => project))];
  return [
    ...projects.flatMap((project) => [
      `Always allowed in ${printableLine(project)}:`,
      ...rules.filter((rule) => rule.project === project).map(({ pattern }) => `  ${printableLine(pattern)}`),
    ]),
    `Take one back with: ${command} permissions remove '<rule>'`,
  ];
}
