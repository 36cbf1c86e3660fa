import type { OnElicitation } from "@keelson/protocol";

/** Answers every question of a server with "cancelled" and asks nobody: what is done where no other `OnElicitation` is given. */
export const cancelAllElicitations: OnElicitation = ({ requestId }) => ({ type: "cancelled", requestId });
