"""The jobs of the fleet that is pictured: small crawls, some of which fail now and then."""

from __future__ import annotations

import random
import threading

from shardsched import ShardingContext, sharded_job

SHELVES = ("fiction", "science", "travel", "poetry", "history", "children")
SITES = ("harbour-times", "valley-post", "city-herald", "north-gazette", "coast-daily", "hill-weekly")
SHOPS = ("lantern-books", "otter-toys", "maple-tools", "cedar-garden", "comet-games")
PAGE_S = 0.1
LUCK = {
    "prices-otter-toys": 0.5,
    "prices-comet-games": 0.25,
    "news-hill-weekly": 0.2,
    "feeds-podcasts": 1.0,
}
"""How likely an attempt fails."""
PAGES = {"archive-backfill": 1200, "sitemaps-refresh": 60, "images-thumbnails": 80}


def crawl(ctx: ShardingContext) -> None:
    """Visit some pages, slowly; fail where the job has no luck."""
    rng = random.Random(f"{ctx.job} {ctx.item} {ctx.fire_time} {ctx.attempt}")  # noqa: S311 - luck
    count = PAGES.get(ctx.job, rng.randint(5, 40))
    fails_at = rng.randrange(count) if rng.random() < LUCK.get(ctx.job, 0.0) else None
    for page in range(count):
        ctx.checkpoint()
        if page == fails_at:
            raise ConnectionError(f"https://{ctx.job}.example/page/{page} answered 503 Service Unavailable")
        ctx.log.info("page %d of %d: https://%s.example/%s/%d", page + 1, count, ctx.job, ctx.param or "all", page)
        ctx.stats["pages"] = page + 1
        threading.Event().wait(PAGE_S)


for number, site in enumerate(SITES):
    sharded_job(
        f"news-{site}",
        cron=f"{number}/20 * * * * ?",
        items=4,
        item_params=dict(enumerate(("front", "politics", "culture", "sports"))),
        isolation="thread",
        retries=2,
        retry_delay=4,
        description="Front pages and sections, each three times a minute",
    )(crawl)
for number, shop in enumerate(SHOPS):
    sharded_job(
        f"prices-{shop}",
        cron=f"{5 + number}/30 * * * * ?",
        items=6,
        isolation="thread",
        retries=1,
        retry_delay=5,
        timezone="Europe/Berlin",
        pause=("02:00-04:00",),
        description="Prices of all goods, by shelf",
    )(crawl)
for number, shelf in enumerate(SHELVES):
    sharded_job(f"catalogue-{shelf}", cron=f"{number * 9} * * * * ?", items=3, isolation="thread")(crawl)
    sharded_job(f"reviews-{shelf}", after=[f"catalogue-{shelf}"], items=2, isolation="thread")(crawl)
sharded_job("archive-backfill", cron="0 * * * * ?", items=8, misfire="skip", timeout=600, description="Years ago")(
    crawl
)
sharded_job("sitemaps-refresh", cron="15 * * * * ?", items=4, priority=5)(crawl)
sharded_job("images-thumbnails", cron="40 * * * * ?", items=10, isolation="thread")(crawl)
sharded_job("feeds-podcasts", cron="10/30 * * * * ?", items=2, retries=3, retry_delay=3, description="Mostly away")(
    crawl
)
sharded_job("feeds-radio", cron="20/30 * * * * ?", items=2, isolation="thread", paused=True)(crawl)
sharded_job("index-merge", after=["catalogue-fiction", "catalogue-science"], items=1)(crawl)
sharded_job("report-daily", cron="0 30 6 * * ?", timezone="Europe/London", items=1, description="For the editors")(
    crawl
)
sharded_job("report-weekly", cron="0 0 7 ? * MON", timezone="Asia/Shanghai", items=1)(crawl)
sharded_job("clean-up", items=1, description="Only when somebody asks for it")(crawl)
