/** Of the coding agent: a run can only be resumed by a runner that has an agent of its name. */
export const AGENT_NAME = "code";
