"use strict";
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const two = (n) => String(n).padStart(2, "0");
  const clock = (min) => two(Math.floor(min / 60) % 24) + ":" + two(Math.floor(min) % 60);
  const show = (event, ...lines) => {
    tip.replaceChildren(...lines.map((line) => {
      const row = document.createElement("div");
      row.append(line);
      return row;
    }));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 12, innerWidth - box.width - 8);
    const y = event.clientY + box.height + 24 > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = Math.max(8, y) + "px";
  };
  const hide = () => { tip.hidden = true; };
  addEventListener("scroll", hide, { passive: true });

  // A link to something folded opens every fold around it, and its own.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const own = target.querySelector(":scope > details.fold");
    if (own) own.open = true;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // What does not fit begins with the newest week.
  for (const box of document.querySelectorAll(".newest-last")) box.scrollLeft = box.scrollWidth;

  const timeline = document.getElementById("timeline");
  if (timeline) {
    const days = JSON.parse(timeline.dataset.days);
    const week = (days.length - 1) * 1440;
    const tariff = Number(timeline.dataset.tariff);
    const currency = timeline.dataset.currency;
    const money = (kwh) => {
      const amount = (kwh * tariff).toFixed(2);
      return currency.length === 1 ? currency + amount : amount + " " + currency;
    };
    const rows = [...timeline.querySelectorAll("svg.row")];
    const ticks = document.querySelector(".axis ol");
    const whole = [...ticks.children];
    const buttons = document.querySelector(".zoom");
    let from = 0;
    let span = week;
    const at = (m) => days[Math.floor(m / 1440)] + " " + clock(m);
    // Minutes of the window that all rows show; the chart of the power follows, and leads.
    const zoom = (start, length, told) => {
      from = start;
      span = length;
      for (const row of rows) row.setAttribute("viewBox", from + " 0 " + span + " 10");
      const items = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => {
        const item = document.createElement("li");
        const minute = from + span * n / 8;
        item.textContent = span > 2880 ? days[Math.floor(minute / 1440)].split(" ")[0] + " " + two(Math.floor(minute / 60) % 24) : clock(minute);
        return item;
      });
      ticks.replaceChildren(...(span === week ? whole : items));
      for (const b of buttons.children) {
        const of = b.dataset.day === "" ? [0, week] : [Number(b.dataset.day) * 1440, 1440];
        b.setAttribute("aria-pressed", String(of[0] === from && of[1] === span));
      }
      if (!told) document.dispatchEvent(new CustomEvent("nilm:zoom", { detail: [from, span] }));
    };
    document.addEventListener("nilm:zoomed", (event) => zoom(...event.detail, true));
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => {
      const pressed = event.target.closest("button");
      if (!pressed) return;
      zoom(...(pressed.dataset.day === "" ? [0, week] : [Number(pressed.dataset.day) * 1440, 1440]));
    });
    const bars = (path) => (path.bars ??= [...path.getAttribute("d")
      .matchAll(/M([\d.-]+) 0h([\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])]));
    for (const row of rows) {
      const watts = row.dataset.w.split(",");
      const kwh = row.dataset.kwh.split(",");
      row.addEventListener("pointermove", (event) => {
        const box = row.getBoundingClientRect();
        const minute = Math.min(from + (event.clientX - box.left) / box.width * span, week - 0.01);
        const slack = span / box.width * 2;
        const around = (path, room) =>
          bars(path).findIndex(([a, d]) => minute >= a - room && minute <= a + d + room);
        const runs = row.querySelector(".run");
        const hit = around(runs, slack);
        const name = row.closest("li").querySelector("a").textContent;
        if (hit < 0) {
          const known = around(row.querySelector(".hole"), 0) >= 0 ? ": no data at " : ": off at ";
          show(event, name + known + at(minute));
          return;
        }
        const [a, d] = bars(runs)[hit];
        const length = d < 100 ? Math.round(d) + " min" : Math.floor(d / 60) + " h " + two(Math.round(d % 60)) + " min";
        show(event, name + ": on " + at(a) + " to " + at(a + d) + ", " + length,
          (watts[hit] ?? watts[0]) + " W, " + kwh[hit] + " kWh, " + money(Number(kwh[hit])));
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
      show(event, label + ", " + two(hour) + ":00–" + two((hour + 1) % 24) + ":00: " +
        (value === "" ? "no data" : value + " Wh"));
    });
    map.addEventListener("pointerleave", hide);
  }
  globalThis.nilmTip = { show, hide };
})();
