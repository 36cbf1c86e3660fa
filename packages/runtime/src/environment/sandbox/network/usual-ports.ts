/** The ports that a host without a port stands for: those of HTTP and HTTPS. */
export const USUAL_PORTS: readonly number[] = [80, 443];
