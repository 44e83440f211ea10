/** The page's theme: `system` follows the device, the others fix it on this device. */
export type Theme = "system" | "light" | "dark";

/** The cookie that keeps the choice, so that the server's first markup already has it and nothing flashes. */
export const themeCookie = "theme";

/** What a cookie's value means; anything unknown follows the system. */
export const parseTheme = (value: string | undefined): Theme =>
  value === "light" || value === "dark" ? value : "system";
