/** The widths at which screens are compared: a narrow window, that of old terminals, and a wide one. */
export const WIDTHS = [40, 80, 120] as const;
