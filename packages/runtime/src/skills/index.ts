export { type FoundSkills, type SkillProblem, findSkills } from "./find-skills.ts";
export { type FrontMatter, parseFrontMatter, splitList } from "./front-matter.ts";
export { type Skill, readSkill } from "./skill.ts";
export { type SkillSourceOptions, skillSource } from "./skill-source.ts";
// What its signatures are made of, so that the protocol need not be installed beside this package.
export type { ToolSource } from "@keelson/protocol";
