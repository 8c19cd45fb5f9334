// Before anything is drawn: the dark theme where the system asks for it and the user left it to the system.
const root = document.documentElement;
const isDark = matchMedia("(prefers-color-scheme: dark)");
const apply = () => {
  if (root.dataset.theme === "auto") root.dataset.bsTheme = isDark.matches ? "dark" : "light";
};
apply();
isDark.addEventListener("change", apply);
