"use client";
import { useSyncExternalStore } from "react";
import { parseTheme, type Theme, themeCookie } from "./theme.tsx";

const yearSeconds = 365 * 24 * 3600;
const changed = new EventTarget();

function chooseTheme(theme: Theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in older Safari and Firefox.
  document.cookie = `${themeCookie}=${theme}; path=/; max-age=${yearSeconds}; samesite=lax`;
  changed.dispatchEvent(new Event("change"));
}

function subscribe(listener: () => void) {
  changed.addEventListener("change", listener);
  return () => changed.removeEventListener("change", listener);
}

/** The chosen theme and how to choose another. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore<Theme>(
    subscribe,
    () => parseTheme(document.documentElement.dataset.theme),
    () => "system",
  );
  return [theme, chooseTheme];
}

export const themeChoices: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

/** The choice as a group of buttons, for the account's page. */
export function ThemeChoice() {
  const [theme, choose] = useTheme();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 text-small font-medium">Theme</legend>
      <div className="inline-flex w-fit rounded-md border border-line-strong p-0.5">
        {themeChoices.map(({ value, label }) => (
          <label
            key={value}
            className="cursor-pointer rounded-md px-3 py-1.5 text-small has-checked:bg-ink has-checked:text-canvas has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-ink"
          >
            <input
              type="radio"
              name="theme"
              value={value}
              checked={theme === value}
              onChange={() => choose(value)}
              className="sr-only"
            />
            {label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
