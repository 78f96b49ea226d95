"use strict";
(() => {
  const timeline = document.querySelector(".timeline");
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const two = (n) => String(n).padStart(2, "0");
  const clock = (min) => two(Math.floor(min / 60) % 24) + ":" + two(Math.floor(min) % 60);
  const show = (event, text) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 12, innerWidth - box.width - 8);
    const y = event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = y + "px";
  };
  const hide = () => { tip.hidden = true; };
  addEventListener("scroll", hide, { passive: true });

  // A link to a folded card opens it.
  const reveal = () => {
    const fold = document.getElementById(location.hash.slice(1))?.querySelector(":scope > details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();

  if (timeline) {
    const days = JSON.parse(timeline.dataset.days);
    const rows = [...timeline.querySelectorAll("svg.row")];
    const ticks = document.querySelector(".axis ol");
    const whole = [...ticks.children];
    const hours = [0, 3, 6, 9, 12, 15, 18, 21].map((hour) => {
      const item = document.createElement("li");
      item.textContent = two(hour);
      return item;
    });
    let from = 0;
    let span = days.length * 1440;
    const zoom = (day) => {
      from = day === null ? 0 : day * 1440;
      span = day === null ? days.length * 1440 : 1440;
      for (const row of rows) row.setAttribute("viewBox", from + " 0 " + span + " 10");
      ticks.replaceChildren(...(day === null ? whole : hours));
    };
    const buttons = document.querySelector(".zoom");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => {
      const pressed = event.target.closest("button");
      if (!pressed) return;
      for (const b of buttons.children) b.setAttribute("aria-pressed", String(b === pressed));
      zoom(pressed.dataset.day === "" ? null : Number(pressed.dataset.day));
    });
    const bars = (path) => (path.bars ??= [...path.getAttribute("d")
      .matchAll(/M([\d.-]+) 0h([\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]));
    for (const row of rows) {
      row.addEventListener("pointermove", (event) => {
        const box = row.getBoundingClientRect();
        const minute = from + (event.clientX - box.left) / box.width * span;
        const slack = span / box.width * 2;
        const around = (path, room) =>
          bars(path).find(([a, d]) => minute >= a - room && minute <= a + d + room);
        const hit = around(row.querySelector(".run"), slack);
        const name = row.closest("li").querySelector("a").textContent;
        const at = (m) => (days[Math.floor(m / 1440)] || "") + " " + clock(m);
        if (!hit) {
          const known = around(row.querySelector(".hole"), 0) ? ": no data at " : ": off at ";
          show(event, name + known + at(minute) + " UTC");
          return;
        }
        const [a, d] = hit;
        const length = d < 100 ? Math.round(d) + " min" : Math.floor(d / 60) + " h " + two(Math.round(d % 60)) + " min";
        show(event, name + ": on " + at(a) + " to " + at(a + d) + " UTC, " + length);
      });
      row.addEventListener("pointerleave", hide);
    }
  }
  for (const map of document.querySelectorAll("svg.heat")) {
    const values = map.dataset.wh.split(",");
    const left = 44, top = 14, cell = 12;
    map.addEventListener("pointermove", (event) => {
      const box = map.getBoundingClientRect();
      const scale = map.viewBox.baseVal.width / box.width;
      const hour = Math.floor(((event.clientX - box.left) * scale - left) / cell);
      const day = Math.floor(((event.clientY - box.top) * scale - top) / cell);
      const value = values[day * 24 + hour];
      if (hour < 0 || hour > 23 || day < 0 || value === undefined) { hide(); return; }
      const label = map.querySelectorAll("text[text-anchor]")[day].textContent;
      show(event, label + ", " + two(hour) + ":00–" + two((hour + 1) % 24) + ":00 UTC: " +
        (value === "" ? "no data" : value + " Wh"));
    });
    map.addEventListener("pointerleave", hide);
  }
})();
