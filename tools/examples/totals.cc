// Orders, and a table of totals by customer that an observer keeps exact: whichever call writes an
// order, the totals change in the same batch.
//
// The observer reads the order that a batch replaces or deletes, and adds increments for the
// difference. The database checks what it read: if another writer changes that order meanwhile,
// the write gets kConflict and is repeated. Increments themselves never conflict, so orders of one
// customer are written at the same time.
//
//   build/example_totals DIRECTORY
#include <tandem/tandem.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Order {
  std::string customer;
  int64_t total = 0;
};

// The first version of each order is all of it: nobody changes one column alone.
template <typename Find>
std::optional<Order> OrderOf(const Find& find) {
  const std::optional<std::string_view> customer = find("customer"), total = find("total");
  if (!customer || !total) return std::nullopt;
  return Order{std::string(*customer), std::strtoll(std::string(*total).c_str(), nullptr, 10)};
}

class Totals : public tandem::Observer {
  tandem::Status BeforeWrite(tandem::PendingWrite* write) override {
    // What becomes of each order: nullopt, it is deleted.
    std::map<std::string, std::optional<Order>> orders;
    for (const tandem::Mutation& mutation : write->mutations()) {
      std::optional<Order>& order = orders[std::string(mutation.row)];
      if (mutation.kind == tandem::Mutation::Kind::kDeleteRow) {
        order.reset();
        continue;
      }
      if (mutation.kind != tandem::Mutation::Kind::kPut) return OnlyWhole();
      order = OrderOf([&](std::string_view name) -> std::optional<std::string_view> {
        for (const tandem::ColumnValue& column : mutation.columns) {
          if (column.qualifier == name) return column.value;
        }
        return std::nullopt;
      });
      if (!order) return OnlyWhole();
    }
    tandem::WriteBatch totals;
    for (const auto& [number, order] : orders) {
      const auto before = write->Get({}, write->table(), number);
      if (!before) return before.error();
      if (*before) {
        const tandem::Row& row = **before;
        const auto old = OrderOf([&row](std::string_view name) { return row.Find("d", name); });
        if (old) Count(*old, -1, &totals);
      }
      if (order) Count(*order, 1, &totals);
    }
    return write->Add(totals);
  }

  static void Count(const Order& order, int64_t sign, tandem::WriteBatch* totals) {
    const tandem::ColumnDelta columns[] = {{"orders", sign}, {"total", sign * order.total}};
    totals->IncrementColumns("totals", order.customer, "d", columns);
  }
  static tandem::Status OnlyWhole() {
    return tandem::Status::InvalidArgument("an order is written and deleted as a whole");
  }
};

void Put(int number, const Order& order, tandem::WriteBatch* batch) {
  const std::string total = std::to_string(order.total);
  const tandem::ColumnValue columns[] = {{"customer", order.customer}, {"total", total}};
  batch->PutColumns("orders", "order-" + std::to_string(1000 + number), "d", columns);
}

// Writes until nobody else has changed the same orders meanwhile.
tandem::Status Write(tandem::Database* database, const tandem::WriteBatch& batch) {
  while (true) {
    const tandem::Status status = database->Write({}, batch);
    if (status.code() != tandem::StatusCode::kConflict) return status;
  }
}

// Four shops write, correct and cancel the same orders.
tandem::Status Trade(tandem::Database* database) {
  std::vector<tandem::Status> statuses(4);
  std::vector<std::thread> shops;
  for (int shop = 0; shop < 4; ++shop) {
    shops.emplace_back([database, shop, &status = statuses[shop]] {
      const char* const customers[] = {"ann", "bob", "eva"};
      for (int i = 0; i < 200 && status.ok(); ++i) {
        tandem::WriteBatch batch;
        Put(i % 50, {customers[(i + shop) % 3], 10 * (i + shop)}, &batch);
        if (i % 7 == shop) batch.DeleteRow("orders", "order-" + std::to_string(1000 + i % 50));
        status = Write(database, batch);
      }
    });
  }
  for (std::thread& shop : shops) shop.join();
  for (const tandem::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return {};
}

// What the totals should be, from the orders themselves.
tandem::Result<std::map<std::string, Order>> Recount(tandem::Database* database) {
  auto orders = database->Scan({}, "orders", {});
  if (!orders) return orders.error();
  std::map<std::string, Order> sums;
  for (const tandem::RowView& row : *orders) {
    const auto order = OrderOf([&row](std::string_view name) { return row.Find("d", name); });
    if (order) sums[order->customer].total += order->total;
  }
  if (!orders->status().ok()) return orders->status();
  return sums;
}

tandem::Status Run(tandem::Database* database) {
  tandem::TableOptions orders;
  orders.name = "orders";
  orders.families = {{.name = "d"}};
  orders.observers = {"totals"};
  if (auto status = database->CreateTable(orders); !status.ok()) return status;
  tandem::TableOptions totals;
  totals.name = "totals";
  totals.families = {{.name = "d"}};
  if (auto status = database->CreateTable(totals); !status.ok()) return status;

  tandem::WriteBatch batch;
  Put(1, {"ann", 300}, &batch);
  Put(2, {"bob", 100}, &batch);
  Put(3, {"ann", 50}, &batch);
  if (auto status = Write(database, batch); !status.ok()) return status;
  auto cursor = database->Scan({}, "totals", {});
  if (!cursor) return cursor.error();
  for (const tandem::RowView& row : *cursor) {
    std::printf("%s: %s orders, %s\n", std::string(row.key()).c_str(),
                std::string(row.Find("d", "orders").value_or("")).c_str(),
                std::string(row.Find("d", "total").value_or("")).c_str());
  }
  const auto refused = database->Increment({}, "orders", "order-1001", "d", "total", 5);
  std::printf("refused: %s\n", refused.status().ToString().c_str());

  if (auto status = Trade(database); !status.ok()) return status;
  const auto recount = Recount(database);
  if (!recount) return recount.error();
  for (const auto& [customer, sum] : *recount) {
    const auto row = database->Get({}, "totals", customer);
    if (!row) return row.error();
    const std::string total(*row ? (*row)->Find("d", "total").value_or("") : "");
    const bool is_equal = total == std::to_string(sum.total);
    std::printf("%s: the total %s a recount\n", customer.c_str(), is_equal ? "equals" : "is not");
  }
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", arguments[0]);
    return 2;
  }
  tandem::Options options;
  options.create_if_missing = true;
  options.observers["totals"] = std::make_shared<Totals>();
  const auto database = tandem::Database::Open(arguments[1], options);
  tandem::Status status = database ? Run(database->get()) : database.error();
  if (status.ok()) status = (*database)->Close();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
