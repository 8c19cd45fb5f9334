// Times such as "3 minutes ago", kept true by the server's clock; the server says them alike (console/locale.py).
const language = document.documentElement.lang;
const words = JSON.parse(document.getElementById("texts")?.textContent || "{}");
const relative = new Intl.RelativeTimeFormat(language, { numeric: "always" });
const UNITS = Object.entries({ year: 31536000, month: 2592000, week: 604800, day: 86400, hour: 3600, minute: 60, second: 1 });
const arrived = performance.timeOrigin + (performance.getEntriesByType("navigation")[0]?.responseStart || 0);
const ahead = Number(document.documentElement.dataset.now || arrived) - arrived;

// Milliseconds since 1970 as the server counts them.
const now = () => Date.now() + ahead;
function ago(seconds, how = relative) {
  const away = Math.trunc(seconds), span = Math.abs(away);
  if (!away) return words.now;
  const [unit, size] = UNITS.find(([, size]) => 5 * span >= 6 * size) || UNITS.at(-1);
  return how.format(Math.sign(away) * Math.floor((2 * span + size) / (2 * size)), unit);
}
function renew() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const text = ago((Date.parse(time.dateTime) - now()) / 1000);
    if (time.dataset.ago !== "title") {
      if (time.textContent !== text) time.textContent = text;
    } else if (!time.title.startsWith(`${text} `)) time.title = `${text} ${time.title.slice(time.title.indexOf("·"))}`;
  }
}
Object.assign(window.shell, { now, ago });
setInterval(() => document.hidden || renew(), 1000);
document.addEventListener("visibilitychange", () => document.hidden || renew());
document.addEventListener("htmx:after:swap", renew);
