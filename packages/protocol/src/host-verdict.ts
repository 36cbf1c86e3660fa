/** The decision about a connection to a host: a rule or a person opened it, a rule denies it, or none is about it. */
export type HostVerdict = "open" | "denied" | "unlisted";
